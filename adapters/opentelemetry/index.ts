export { type OpenTelemetrySettings, openTelemetryObserver } from './open-telemetry-observer.js';
export { type OpenTelemetryTracerSettings, openTelemetryTracer } from './open-telemetry-tracer.js';
