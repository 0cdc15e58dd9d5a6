/*
 * The package's public interface, one module per area. `etc/` holds a report of all exports. They export no operation: callers use `engine.as`
 * and hosts `engine.host`, which load the operations.
 */

export * from './public/access.js';
export * from './public/engine.js';
export * from './public/functions.js';
export * from './public/jobs.js';
export * from './public/nodes.js';
export * from './public/notifications.js';
export * from './public/ports.js';
