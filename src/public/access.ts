/** Access control: rights, policies, roles, tokens, and variables. For services that embed the engine. */

export {
  allows,
  allowsArea,
  allowsHostVolume,
  allowsNamespace,
  allowsNodePool,
  allowsSomeVariable,
  allowsSomeWorkspace,
  allowsVariable,
  allowsWorkspace,
  everyNamespace,
} from '../access/allows.js';
export { type CallAccess, type Concerned, mayCall } from '../access/call-access.js';
export {
  type Capability,
  capabilityFromName,
  namespaceCapabilities,
  type PolicyShorthand,
  policyShorthands,
} from '../access/capability.js';
export type {
  AccessError,
  BootstrapDone,
  InvalidAccess,
  MalformedAccessor,
  RoleNotFound,
  TokenNotFound,
} from '../access/errors.js';
export type { ClaimRefused } from '../access/node-claim.js';
export type { OneTimeToken } from '../access/one-time-tokens.js';
export { parsePolicy } from '../access/policy/parse-policy.js';
export {
  type Area,
  type AreaLevel,
  type AreaPolicy,
  areas,
  type HostVolumeCapability,
  hostVolumeCapabilities,
  type NamedPolicy,
  type NamespacePolicy,
  type NodePoolCapability,
  nodePoolCapabilities,
  type OperatorPolicy,
  type Policy,
  type VariableCapability,
  type VariablePathPolicy,
  variableCapabilities,
} from '../access/policy/policy.js';
export type { RulesFault } from '../access/policy/rules-reader.js';
export type { PolicyJob, PolicyStub, StoredPolicy } from '../access/policy-record.js';
export {
  anonymousPrincipal,
  hostPrincipal,
  type NamespaceRule,
  type NodeIdentity,
  type Principal,
  type Workload,
  type WorkspaceRight,
} from '../access/principal.js';
export { principalFault } from '../access/principal-fault.js';
export type { StoredRole } from '../access/role-record.js';
export type { RoleLink, TokenDocument, TokenStub } from '../access/token-document.js';
export type { IssuedToken, TokenInfo, TokenInput, UnfitSecret } from '../operations/access/tokens/put-token.js';
export type { PermissionDenied } from '../operations/authorise.js';
export { callerWithin } from '../operations/records/presented-secret.js';
export type { VariableWritten } from '../operations/variables/conflict-answer.js';
export type { InvalidVariable, ItemsMissing, VariableError } from '../variables/errors.js';
export type { LockView, VariableDocument, VariableItems, VariableStub } from '../variables/variable.js';
