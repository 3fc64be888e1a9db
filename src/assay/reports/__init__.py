"""What people look at: tables, plots, HTML."""
