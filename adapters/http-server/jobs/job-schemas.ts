import { jobJsonSchema } from '../../../src/index.js';
import { anyObject, type JsonSchema, objectSchema, orNull } from '../json-schema.js';

/* The JSON Schemas of the job interface's documents, for the OpenAPI document. */

const text: JsonSchema = { type: 'string' };
const integer: JsonSchema = { type: 'integer' };
const flag: JsonSchema = { type: 'boolean' };
const count: JsonSchema = { type: 'integer', minimum: 0 };

export function listOf(item: () => JsonSchema): JsonSchema {
  return { type: 'array', items: item() };
}

/** A job as it is submitted; its definitions stand in the document's components. */
export const submittedJobSchema = (): JsonSchema => jobJsonSchema().root as JsonSchema;

export const jobSchema = (): JsonSchema =>
  objectSchema(
    {
      ID: text,
      Namespace: text,
      Name: text,
      Type: { enum: ['service', 'batch', 'system', 'sysbatch'] },
      Status: { enum: ['pending', 'running', 'dead'] },
      Priority: integer,
      Version: count,
      TaskGroups: { type: ['array', 'null'], items: anyObject },
      Meta: orNull(anyObject),
      JobModifyIndex: count,
      ModifyIndex: count,
      CreateIndex: count,
    },
    ['ID'],
  );

export const jobStubSchema = (): JsonSchema =>
  objectSchema(
    {
      ID: text,
      Name: text,
      Namespace: text,
      Type: text,
      Status: text,
      Priority: integer,
      JobSummary: orNull(anyObject),
    },
    ['ID'],
  );

export const evaluationSchema = (): JsonSchema =>
  objectSchema({ ID: text, JobID: text, Status: text, TriggeredBy: text, CreateIndex: count, ModifyIndex: count }, [
    'ID',
    'Status',
  ]);

export const allocationSchema = (): JsonSchema =>
  objectSchema({ ID: text, JobID: text, TaskGroup: text, ClientStatus: text, DesiredStatus: text, NodeID: text }, [
    'ID',
  ]);

export const nodeSchema = (): JsonSchema =>
  objectSchema({ ID: text, Name: text, Status: text, SchedulingEligibility: text, Datacenter: text }, ['ID']);

/** What every write that registers answers. */
export const registeredSchema = (): JsonSchema =>
  objectSchema(
    {
      EvalID: text,
      EvalCreateIndex: count,
      JobModifyIndex: count,
      Warnings: text,
      Index: count,
      LastContact: integer,
      KnownLeader: flag,
      NextToken: text,
    },
    ['EvalID', 'EvalCreateIndex', 'JobModifyIndex', 'Index'],
  );

export const dispatchedSchema = (): JsonSchema =>
  objectSchema({ DispatchedJobID: text, EvalID: text, EvalCreateIndex: count, JobCreateIndex: count, Index: count }, [
    'DispatchedJobID',
    'EvalID',
    'Index',
  ]);

export const stoppedSchema = (): JsonSchema =>
  objectSchema({ EvalID: text, EvalCreateIndex: count, JobModifyIndex: count, Index: count }, ['EvalID', 'Index']);

export const validatedSchema = (): JsonSchema =>
  objectSchema({
    DriverConfigValidated: flag,
    ValidationErrors: orNull({ type: 'array', items: text }),
    Error: text,
    Warnings: text,
  });
