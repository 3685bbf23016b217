"""Pages: data about a model or a run, then a template, then one offline HTML file."""
