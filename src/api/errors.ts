import type { ClaimRefused, PermissionDenied } from '../access/allows.js';
import type { AccessError } from '../access/errors.js';
import type { CommandRefused } from '../agent/link/node-command.js';
import type { InvalidTopic } from '../events/subscription.js';
import type { FunctionCallError } from '../functions/errors.js';
import type { VersionBaseNotFound } from '../jobs/diff/diff-jobs.js';
import type { DecodeError } from '../jobs/document/decode-job.js';
import type {
  AdmissionRefused,
  DispatchRateExceeded,
  DispatchRefused,
  EvaluationRefused,
  IndexConflict,
  InvalidJob,
  InvalidRequest,
  JobNotFound,
  NamespaceError,
  PolicyRefused,
  QuotaExceeded,
  RegistrationsDisabled,
  RestartUnderWay,
  RevertRefused,
  ScalingRefused,
  TagRefused,
  TotalCountTooLarge,
  TransitionRefused,
  UnknownRegion,
  VersionNotFound,
} from '../jobs/errors.js';
import type { ForceRefused } from '../jobs/periodic/decide-launch.js';
import type { NotificationError } from '../notifications/errors.js';
import type { EvaluationDeletionRefused } from '../operations/jobs/delete-evaluations.js';
import type { UnknownAllocation } from '../operations/jobs/reading/read-allocations.js';
import type { UnreadableSource } from '../operations/jobs/registration/parse-job-source.js';
import type { PlanOutdated } from '../operations/jobs/registration/plan-seal.js';
import type { FilterFault } from '../operations/listing/answer-list.js';
import type { NodeTaken } from '../ports/agent-link.js';
import type { CipherError } from '../ports/cipher.js';
import type { StorageError } from '../ports/storage.js';
import type { SearchRefused } from '../queries/search.js';
import type { DeploymentError, DeploymentNotFound } from '../scheduler/deployment/deployment-errors.js';
import type { NodePoolError } from '../scheduler/nodes/check-node-pool.js';
import type { NodeNotFound, NodeRefused } from '../scheduler/nodes/node-errors.js';
import type { VariableError } from '../variables/errors.js';

/** Every error of the job interface. A new error is added here; the compiler then requires its status in the HTTP adapter. */
export type JobCallError =
  | PermissionDenied
  | StorageError
  | DecodeError
  | AdmissionRefused
  | PolicyRefused
  | QuotaExceeded
  | DispatchRateExceeded
  | InvalidJob
  | InvalidRequest
  | IndexConflict
  | PlanOutdated
  | RestartUnderWay
  | TransitionRefused
  | RegistrationsDisabled
  | UnknownRegion
  | JobNotFound
  | VersionNotFound
  | RevertRefused
  | VersionBaseNotFound
  | DispatchRefused
  | EvaluationRefused
  | ScalingRefused
  | TotalCountTooLarge
  | TagRefused
  | EvaluationDeletionRefused
  | SearchRefused
  | UnknownAllocation
  | UnreadableSource
  | FilterFault
  | InvalidTopic
  | NamespaceError
  | AccessError
  | VariableError
  | CipherError
  | CommandRefused
  | ClaimRefused
  | NodeTaken
  | ForceRefused
  | DeploymentNotFound
  | DeploymentError
  | NodeNotFound
  | NodeRefused
  | NodePoolError
  | FunctionCallError;

/** Every error of the notification interface. */
export type NotificationCallError = NotificationError | PermissionDenied | StorageError;

/** Every error that an operation can return to a call of one of the interfaces. */
export type CallError = JobCallError | NotificationCallError;

/** The `type` of a `CallError`. */
export type ErrorTag = CallError['type'];

/** The error with that tag. */
export type ErrorOf<T extends ErrorTag> = Extract<CallError, { readonly type: T }>;
