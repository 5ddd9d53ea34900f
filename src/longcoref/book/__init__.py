"""Post-processing of a whole text: names become people, quotations get speakers, pronouns are reconsidered."""
