"""What a release is worth: how well it separates, predicts and keeps the rules."""
