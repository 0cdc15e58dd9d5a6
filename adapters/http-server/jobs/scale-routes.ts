import { scaleJob, tagJobVersion, untagJobVersion } from '../../../src/index.js';
import {
  booleanField,
  type Field,
  integerField,
  objectField,
  textField,
  textMapField,
  unsignedField,
} from '../fields.js';
import { objectSchema } from '../json-schema.js';
import { textResponse } from '../responses.js';
import type { Route } from '../route.js';
import { jobErrorResponse } from './job-errors.js';
import { writeResponse } from './job-responses.js';
import { needs, writeRoute } from './job-route.js';
import { registeredSchema } from './job-schemas.js';
import { registeredResponse } from './registered-response.js';

/** Its text in the contract; clients that exist say true, and mean that the message is one. */
const errorField: Field<string | boolean> = {
  schema: () => ({ type: ['string', 'boolean'] }),
  read: (value) => (typeof value === 'string' || typeof value === 'boolean' ? value : undefined),
  expected: 'a string or a bool',
};

const tagSchema = () =>
  objectSchema({ Name: { type: 'string' }, Description: { type: 'string' }, TaggedTime: { type: 'integer' } }, [
    'Name',
  ]);

/** Scaling, and names for versions. */
export const scaleRoutes: readonly Route[] = [
  writeRoute({
    path: '/v1/job/{job_id}/scale',
    operation: 'scaleJob',
    summary: 'Scale a group, or record why it is not scaled',
    access: needs('scale-job', 'submit-job'),
    parameters: {},
    fields: {
      Count: integerField,
      Target: textMapField,
      Message: textField,
      Error: errorField,
      Meta: objectField,
      PolicyOverride: booleanField,
      EnforceIndex: booleanField,
      JobModifyIndex: unsignedField,
    },
    body: 'required',
    schema: registeredSchema,
    run: async (call, { body, namespace, id }) => {
      const scaled = await scaleJob(call.engine, call.caller, {
        ...(namespace === undefined ? {} : { namespace }),
        jobId: id,
        target: body.Target ?? {},
        count: body.Count ?? null,
        message: body.Message ?? '',
        ...(body.Error === undefined ? {} : { error: body.Error }),
        meta: body.Meta ?? null,
        policyOverride: body.PolicyOverride ?? false,
        enforceIndex: body.EnforceIndex ?? false,
        jobModifyIndex: body.JobModifyIndex ?? 0,
      });
      return scaled.match(
        (answer) => registeredResponse(call, answer),
        // Unlike the other writes, this one has a 404 for a job that is not there.
        (error) => (error.type === 'job_not_found' ? textResponse(404, error.message) : jobErrorResponse(error)),
      );
    },
  }),
  writeRoute({
    path: '/v1/job/{job_id}/versions/{name}/tag',
    operation: 'tagJobVersion',
    summary: 'Name a version, which keeps it',
    access: needs('submit-job', 'tag-job-version'),
    parameters: {},
    fields: { Version: unsignedField, Latest: booleanField, Description: textField },
    body: 'required',
    schema: tagSchema,
    run: async (call, { body, namespace, id }) => {
      const tagged = await tagJobVersion(call.engine, call.caller, {
        ...(namespace === undefined ? {} : { namespace }),
        jobId: id,
        name: call.pathValues[1] ?? '',
        version: body.Version ?? 0,
        latest: body.Latest ?? false,
        description: body.Description ?? '',
      });
      return tagged.match(
        (tag) => writeResponse(call, undefined, JSON.stringify({ ...tag, ...noIndex })),
        jobErrorResponse,
      );
    },
  }),
  writeRoute({
    methods: ['DELETE'],
    path: '/v1/job/{job_id}/versions/{name}/tag',
    operation: 'untagJobVersion',
    summary: 'Take the name away from its version',
    access: needs('submit-job', 'tag-job-version'),
    parameters: {},
    fields: {},
    body: 'ignored',
    schema: tagSchema,
    run: async (call, { namespace, id }) => {
      const name = call.pathValues[1] ?? '';
      const reference = { ...(namespace === undefined ? {} : { namespace }), jobId: id, name };
      const untagged = await untagJobVersion(call.engine, call.caller, reference);
      const answer = { Name: '', Description: '', TaggedTime: 0, ...noIndex };
      return untagged.match(() => writeResponse(call, undefined, JSON.stringify(answer)), jobErrorResponse);
    },
  }),
];

/** These two tell no index. */
const noIndex = { Index: 0, LastContact: 0, KnownLeader: false, NextToken: '' } as const;
