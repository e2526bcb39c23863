"""Tests of the stores: one conformance suite for all engines, and the guards of the embedded one."""
