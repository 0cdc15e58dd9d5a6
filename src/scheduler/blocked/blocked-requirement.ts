import { table } from '../../shared/table.js';

/**
 * One requirement of a blocked evaluation. Evaluations that share a requirement need the same of a node: while the first of them
 * cannot place it, the others need not be tried.
 */
export interface BlockedRequirement {
  /** The blocked evaluation. */
  readonly ID: string;
  /** The name of the requirement; see `requirementNames`. */
  readonly requirement: string;
  readonly priority: number;
  readonly createIndex: number;
}

export const blockedRequirements = table<BlockedRequirement>(
  'blocked_requirements',
  (waiting) => [waiting.ID, waiting.requirement],
  {
    /** Entries of one requirement, highest priority first. */
    by_requirement: {
      version: 1,
      key: (waiting) => [waiting.requirement, -waiting.priority, waiting.createIndex, waiting.ID],
    },
  },
);
