"""The methods that the paper compares with, one file each, and one registry."""
