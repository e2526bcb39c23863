"""The parts of :class:`libs.dataloader.WebLoader`, each of which does one thing; not a public interface."""
