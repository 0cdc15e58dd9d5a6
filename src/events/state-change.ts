import type { StoredPolicy } from '../access/policy-record.js';
import type { StoredRole } from '../access/role-record.js';
import type { StoredToken } from '../access/tokens.js';
import type { Job } from '../jobs/document/job.js';
import type { Allocation } from '../scheduler/allocation.js';
import type { Deployment } from '../scheduler/deployment/deployment.js';
import type { Evaluation } from '../scheduler/evaluation.js';
import type { Node } from '../scheduler/node.js';
import type { NodePool } from '../scheduler/node-pool.js';
import type { ServiceRegistration } from '../services/service-registration.js';

/** The record type of a topic. */
export interface Subjects {
  readonly Job: Job;
  readonly Evaluation: Evaluation;
  readonly Allocation: Allocation;
  readonly Deployment: Deployment;
  readonly Node: Node;
  readonly NodePool: NodePool;
  readonly Service: ServiceRegistration;
  readonly ACLToken: StoredToken;
  readonly ACLPolicy: StoredPolicy;
  readonly ACLRole: StoredRole;
}

export type Topic = keyof Subjects;

/** A record before and after one transaction; one side is absent when it was created or removed. */
export interface ChangeOf<T extends Topic> {
  readonly topic: T;
  readonly before: Subjects[T] | undefined;
  readonly after: Subjects[T] | undefined;
}

export type StateChange = { [T in Topic]: ChangeOf<T> }[Topic];
