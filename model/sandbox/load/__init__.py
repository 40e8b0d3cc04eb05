"""Traffic for a sandbox, and an auditor that proves which acknowledged records survived. A process of its own."""
