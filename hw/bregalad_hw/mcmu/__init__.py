"""Memory controller unit: commands, record fetch, path, attempts, reports."""
