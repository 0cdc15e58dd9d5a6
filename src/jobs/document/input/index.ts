// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

export type * from './connect-input.js';
export type * from './identity-input.js';
export type * from './job-input.js';
export type * from './network-input.js';
export type * from './placement-input.js';
export type * from './policy-input.js';
export type * from './resource-input.js';
export type * from './service-input.js';
export type * from './task-group-input.js';
export type * from './task-input.js';
export type * from './task-part-input.js';
