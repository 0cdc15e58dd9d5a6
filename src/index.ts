/*
 * The front door, in two groups: what a service uses, and what the author of an adapter needs besides.
 */

// ---- For users: access ----
export { allows, allowsWorkspace, everyNamespace } from './access/allows.js';
export {
  type Capability,
  capabilityFromName,
  namespaceCapabilities,
  type PolicyShorthand,
  policyShorthands,
} from './access/capability.js';
export {
  anonymousPrincipal,
  hostPrincipal,
  type NamespaceRule,
  type Principal,
  type WorkspaceRight,
} from './access/principal.js';
// ---- For users: engine and settings ----
export { createEngine, type Engine, type EnginePorts, type StopOptions } from './engine.js';
export {
  authenticateToken,
  bootstrapManagementToken,
  type IssuedToken,
  listTokens,
  putToken,
  removeToken,
  type TokenInfo,
  type TokenInput,
  type TokenNotFound,
  tokenAuthenticator,
  type UnfitSecret,
} from './operations/access/index.js';
export type { EngineEmitter, EngineEvents } from './operations/events.js';
export type { PermissionDenied } from './operations/shared/authorise.js';
// ---- For adapter authors: ports, and what driving adapters translate ----
export type { Waiting } from './operations/shared/blocking-query.js';
export type { BackgroundLoop, EngineContext } from './operations/shared/context.js';
export type { Answer } from './operations/shared/parked-queries.js';
export type * from './ports/index.js';
export {
  defaultSettings,
  type RunNotificationRule,
  type Settings,
  type SettingsOverrides,
  settingsFrom,
} from './settings.js';
export { parseDurationNanos } from './shared/duration.js';
export { isoFromInstant } from './shared/instant.js';
