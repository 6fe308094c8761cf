"""What each kind of file holds: CSV, ARFF, Parquet; read to chunks, written from them."""
