"""Games from the two services that most people play on: what is asked for in a word or a link, with good manners."""
