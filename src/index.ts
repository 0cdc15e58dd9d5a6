/*
 * The package's public interface, one module per area. `etc/` holds a report of all exports.
 * What these modules export of `src/operations/<area>/index.ts` is loaded by its first call (`tools/build.mjs`), so it is asynchronous.
 * They export everything else from the file that declares it.
 */

export * from './public/access.js';
export * from './public/engine.js';
export * from './public/functions.js';
export * from './public/jobs.js';
export * from './public/nodes.js';
export * from './public/notifications.js';
export * from './public/ports.js';
