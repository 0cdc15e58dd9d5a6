/*
 * The package's public interface, one module per area. `etc/` holds a report of all exports.
 */

export * from './public/access.js';
export * from './public/engine.js';
export * from './public/jobs.js';
export * from './public/nodes.js';
export * from './public/notifications.js';
export * from './public/ports.js';
