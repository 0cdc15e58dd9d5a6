export { type OpenTelemetrySettings, openTelemetryObserver } from './open-telemetry-observer.js';
