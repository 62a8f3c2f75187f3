"""What a job on Spark imports of Ouzel: any connector as a data source and as what is written, bad records, Python functions."""
