"""The whole path over loopback HTTP: clients that people can choose, under the fold and under others."""
