import { filterCompiler } from '../../filter/compile-filter.js';
import { policySchema, roleSchema, tokenSchema } from './access-schemas.js';
import { allocationSchema } from './allocation-schema.js';
import {
  namespaceSchema,
  nodePoolSchema,
  scalingPolicySchema,
  serviceSchema,
  variableSchema,
} from './catalogue-schemas.js';
import { deploymentSchema } from './deployment-schema.js';
import { evaluationSchema } from './evaluation-schema.js';
import { jobSchema } from './job-schema.js';
import { nodeSchema } from './node-schema.js';

/** The filter of each list, asked of stored records as Nomad does it, not of what the list shows of them. */
export const compileFilter = {
  job: filterCompiler(jobSchema),
  /** Of an allocation with its job laid in as `Job`, and with what its document adds (`derivedMembers`), when the filter's `members` have it. */
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
