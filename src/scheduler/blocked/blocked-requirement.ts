import { table } from '../../shared/table.js';

/**
 * One thing that a blocked evaluation waits for. Evaluations with the same requirement want the same of a node: while the first of them
 * cannot place it, the others need not be tried.
 */
export interface BlockedRequirement {
  /** The blocked evaluation. */
  readonly ID: string;
  /** What it waits for; see `requirementNames`. */
  readonly requirement: string;
  readonly priority: number;
  readonly createIndex: number;
}

export const blockedRequirements = table<BlockedRequirement>(
  'blocked_requirements',
  (waiting) => [waiting.ID, waiting.requirement],
  {
    /** Those of one requirement together, most urgent first. */
    by_requirement: {
      version: 1,
      key: (waiting) => [waiting.requirement, -waiting.priority, waiting.createIndex, waiting.ID],
    },
  },
);
