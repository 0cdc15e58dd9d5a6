import { filterCompiler } from '../../filter/compile-filter.js';
import { allocationSchema } from './allocation-schema.js';
import { jobSchema } from './job-schema.js';
import { nodeSchema } from './node-schema.js';
import {
  deploymentSchema,
  evaluationSchema,
  namespaceSchema,
  nodePoolSchema,
  policySchema,
  roleSchema,
  scalingPolicySchema,
  serviceSchema,
  tokenSchema,
  variableSchema,
} from './record-schemas.js';

/** The filter of each list, applied to stored records as in Nomad, instead of to the list's entries. */
export const compileFilter = {
  job: filterCompiler(jobSchema),
  /** Input: an allocation with its job as `Job`, and with `derivedMembers` of its document if the filter's `members` include them. */
  allocation: filterCompiler(allocationSchema),
  evaluation: filterCompiler(evaluationSchema),
  deployment: filterCompiler(deploymentSchema),
  node: filterCompiler(nodeSchema),
  nodePool: filterCompiler(nodePoolSchema),
  namespace: filterCompiler(namespaceSchema),
  service: filterCompiler(serviceSchema),
  variable: filterCompiler(variableSchema),
  scalingPolicy: filterCompiler(scalingPolicySchema),
  token: filterCompiler(tokenSchema),
  policy: filterCompiler(policySchema),
  role: filterCompiler(roleSchema),
} as const;
