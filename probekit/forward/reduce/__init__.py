"""From a pass's evidence to captures: attention, states, tokens, image."""
