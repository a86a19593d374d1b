"""How useful a release is: how well it separates, predicts and keeps the rules."""
