"""HOW LONG, AND WHERE: the way of a request through the service, as OpenTelemetry traces.

Switched off, nothing of OpenTelemetry is loaded. Each module imports only from those below it:

    otlp      sends spans to a collector, from a thread of its own
    ---
    sending   whom spans are handed to in this process; nobody, unless tracing is switched on
    ---
    spans     what is sent: something that began and ended, in whose trace
    terms     which variables switch it on
"""
