export { type OpenTelemetrySettings, openTelemetryObserver } from './open-telemetry-observer.js';
export {
  type OpenTelemetryApi,
  type OpenTelemetryTracerSettings,
  openTelemetryTracer,
} from './open-telemetry-tracer.js';
