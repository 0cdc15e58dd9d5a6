import type { JsonSchema } from '../../../src/api/json-schema.js';
import { jobJsonSchema } from '../../../src/index.js';
import { functionSchemas } from './function-schemas.js';
import { jobSchemas } from './job-schemas.js';
import { notificationSchemas } from './notification-schemas.js';

/** Every schema that the interface names, for the components of the OpenAPI document. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const { root, definitions } = jobJsonSchema();
  return {
    ...(definitions as Readonly<Record<string, JsonSchema>>),
    SubmittedJob: root as JsonSchema,
    ...jobSchemas,
    ...functionSchemas,
    ...notificationSchemas,
  };
}
