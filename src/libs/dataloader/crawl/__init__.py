"""The parts of :class:`libs.dataloader.WebLoader`; not a public interface."""
