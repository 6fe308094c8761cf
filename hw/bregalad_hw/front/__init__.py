"""What comes before the array: from records as they are to the leaves that count them."""
