/*
 * Errors of requests about jobs, as one closed union per operation. `message` is written for
 * the caller; messages that existing clients match are exact.
 */

/** The document breaks rules; `message` lists all of them in one string. */
export interface InvalidJob {
  readonly type: 'invalid_job';
  /** All problems, one string for each part of the job. */
  readonly errors: readonly string[];
  readonly message: string;
}

/** The job needs additions by the server (the proxy of a mesh service, the path of an exposed check) that cannot be made for it. */
export interface AdmissionRefused {
  readonly type: 'admission_refused';
  readonly message: string;
}

/** Policies of the host refuse the job; `message` has one line for each. */
export interface PolicyRefused {
  readonly type: 'policy_refused';
  readonly message: string;
}

/** The jobs of the namespace would request more than its quota. */
export interface QuotaExceeded {
  readonly type: 'quota_exceeded';
  readonly namespace: string;
  readonly message: string;
}

/** The namespace has reached its quota of dispatches in the last minute. */
export interface DispatchRateExceeded {
  readonly type: 'dispatch_rate_exceeded';
  readonly namespace: string;
  readonly message: string;
}

/** A member of the request, apart from the job document, has an invalid value. */
export interface InvalidRequest {
  readonly type: 'invalid_request';
  /** The invalid member. */
  readonly field: string;
  readonly message: string;
}

/** The check-and-set failed. Clients match the beginning of the message. */
export interface IndexConflict {
  readonly type: 'index_conflict';
  /** The index in the request. */
  readonly given: number;
  /** The job's JobModifyIndex; null when there is no such job. */
  readonly current: number | null;
  readonly message: string;
}

/** A job cannot become another kind of job. */
export interface TransitionRefused {
  readonly type: 'transition_refused';
  /** The change that is not allowed. */
  readonly reason: 'type' | 'periodic' | 'parameterized' | 'dispatched';
  readonly message: string;
}

/** The configuration of the scheduler allows registrations, dispatches and scalings by management callers only. */
export interface RegistrationsDisabled {
  readonly type: 'registrations_disabled';
  readonly message: string;
}

/** A restart of the job is under way already. */
export interface RestartUnderWay {
  readonly type: 'restart_under_way';
  readonly message: string;
}

/** The request names another region than that of this installation. */
export interface UnknownRegion {
  readonly type: 'unknown_region';
  readonly region: string;
  readonly message: string;
}

/** There is no job with this ID in the namespace. */
export interface JobNotFound {
  readonly type: 'job_not_found';
  readonly namespace: string;
  readonly jobId: string;
  readonly message: string;
}

/** The requested version does not exist or was pruned. */
export interface VersionNotFound {
  readonly type: 'version_not_found';
  readonly version: number;
  readonly message: string;
}

/** A revert to the current version, or with a wrong `prior_version`. */
export interface RevertRefused {
  readonly type: 'revert_refused';
  /** `same_version`: the version is the current one. `prior_version`: the current version differs from the one in the request. */
  readonly reason: 'same_version' | 'prior_version';
  readonly message: string;
}

/** The job cannot be dispatched, or not with this payload, meta or priority. */
export interface DispatchRefused {
  readonly type: 'dispatch_refused';
  /** `meta_not_permitted`: meta that the job does not declare. `meta_missing`: meta that it requires. `priority`: out of bounds. */
  readonly reason:
    | 'not_parameterized'
    | 'stopped'
    | 'payload_required'
    | 'payload_forbidden'
    | 'payload_too_large'
    | 'meta_not_permitted'
    | 'meta_missing'
    | 'priority';
  readonly message: string;
}

/** A periodic or parameterized job has no allocations, only instances, so it cannot be evaluated. */
export interface EvaluationRefused {
  readonly type: 'evaluation_refused';
  /** The kind of the job. */
  readonly reason: 'periodic' | 'parameterized';
  readonly message: string;
}

/** A scaling request that its group, policy or job forbids. */
export interface ScalingRefused {
  readonly type: 'scaling_refused';
  /**
   * `count_with_error`: the request describes an error and gives a count, too. `below_minimum`, `above_maximum`: bounds of the group's
   * policy. `active_deployment`: the job is being deployed. `volume`: a volume of the group allows fewer allocations.
   */
  readonly reason:
    | 'negative_count'
    | 'count_with_error'
    | 'count_too_large'
    | 'system_job'
    | 'unknown_group'
    | 'below_minimum'
    | 'above_maximum'
    | 'active_deployment'
    | 'volume';
  readonly message: string;
}

/** The total of counts is over the installation's limit. */
export interface TotalCountTooLarge {
  readonly type: 'total_count_too_large';
  readonly message: string;
}

/** A tag that another version already has, or that does not exist. */
export interface TagRefused {
  readonly type: 'tag_refused';
  /** `version_and_latest`: the request gives a version and also requests the latest one. */
  readonly reason: 'taken' | 'not_found' | 'version_and_latest';
  readonly message: string;
}

/** Errors of the pure registration decision. */
export type RegistrationRefusal = IndexConflict | TransitionRefused | InvalidRequest;

/** Why a namespace cannot be read, written or removed: it is malformed, does not exist, is built in, or is in use. */
export type NamespaceError =
  /** The document of the namespace is malformed. */
  | {
      readonly type: 'invalid_namespace';
      readonly message: string;
    }
  /** There is no namespace with this name. */
  | { readonly type: 'namespace_not_found'; readonly name: string; readonly message: string }
  /** The namespace is built in and cannot be removed. */
  | { readonly type: 'namespace_protected'; readonly name: string; readonly message: string }
  /** The namespace is in use, so it cannot be removed. */
  | { readonly type: 'namespace_in_use'; readonly name: string; readonly message: string };

export function invalidRequest(field: string, message: string): InvalidRequest {
  return { type: 'invalid_request', field, message };
}

/** The ID of an allocation, evaluation, deployment or node, which must be a whole UUID. */
export function malformedId(): InvalidRequest {
  return invalidRequest('id', 'the ID must be a UUID of 36 characters');
}

export function jobNotFound(namespace: string, jobId: string): JobNotFound {
  return { type: 'job_not_found', namespace, jobId, message: 'job not found' };
}
