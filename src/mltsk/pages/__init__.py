"""Report pages: summarise what was run into plain data, then render that into one offline HTML file."""
