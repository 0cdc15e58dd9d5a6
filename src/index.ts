/*
 * The public interface of the package, in one module for each area. `etc/` holds a report of all that is exported.
 */

export * from './public/access.js';
export * from './public/engine.js';
export * from './public/jobs.js';
export * from './public/nodes.js';
export * from './public/notifications.js';
export * from './public/ports.js';
