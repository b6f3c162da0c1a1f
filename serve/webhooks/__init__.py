"""Webhooks: the address guard, the signature (Standard Webhooks), the delivery loop."""
