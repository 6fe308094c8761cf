"""Memory controller unit: commands, record fetch, path, trials, reports."""
