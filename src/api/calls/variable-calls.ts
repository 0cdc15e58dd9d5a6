import type { VariableWritten } from '../../operations/variables/write-variable.js';
import type { VariableDocument, VariableStub } from '../../variables/variable.js';
import { onVariables } from '../access.js';
import { type AnswerForm, found, page } from '../answers.js';
import { read, write } from '../call.js';
import { filterFaults, pageInputs } from '../common-inputs.js';
import { inBody, inPath, inQuery } from '../inputs.js';
import { jsonDurationText, jsonName, jsonObject, jsonText, jsonTextMap, member, namedSchema } from '../json-codecs.js';
import { flag, text, unsigned } from '../text-codecs.js';

const path = inPath('path', text);
const cas = inQuery(
  'cas',
  unsigned('can not parse cas'),
  'The modify index that the variable must have; 0: it must not exist',
);

/** The variable, or with 409 the conflicting one. */
const writtenVariable: AnswerForm<VariableWritten, VariableWritten> = {
  schema: namedSchema('Variable'),
  status: 200,
  statusOf: ({ conflict }) => (conflict ? 409 : 200),
  otherStatuses: [409],
  toClient: (value) => value,
  // Clients read an object also from a variable that has only a lock.
  toWire: ({ value }) => JSON.stringify({ ...value, Items: value.Items ?? {} }),
  indexOf: ({ index }) => index,
};

/** Nothing, or with 409 the conflicting variable. */
const removedVariable: AnswerForm<VariableWritten, VariableWritten> = {
  ...writtenVariable,
  schema: undefined,
  otherSchema: namedSchema('Variable'),
  status: 204,
  statusOf: ({ conflict }) => (conflict ? 409 : 204),
  toWire: ({ conflict, value }) => (conflict ? JSON.stringify(value) : ''),
};

/** Variables: named strings under a path in a namespace, with check-and-set and locks. */
export const variableCalls = {
  /** The variables that the caller may list, without their items. */
  list: read({
    path: '/v1/vars',
    access: onVariables,
    summary: 'The variables that the caller may list, without their items',
    inputs: pageInputs,
    errors: filterFaults,
    answer: page<VariableStub>('VariableStub'),
  }),

  /** One variable, with its items. */
  read: read({
    path: '/v1/var/{path}',
    access: onVariables,
    summary: 'One variable, with its items',
    args: ['path'],
    inputs: { path },
    errors: ['undecipherable'],
    answer: found<VariableDocument | undefined>('Variable'),
    absent: 'variable not found',
  }),

  /** Creates a variable or replaces its items; acquires, renews or releases its lock. */
  put: write({
    path: '/v1/var/{path}',
    access: onVariables,
    summary: 'Creates a variable or replaces its items; acquires, renews or releases its lock',
    args: ['path'],
    inputs: {
      path,
      cas,
      acquire: inQuery('lock-acquire', flag, 'Acquire its lock, too'),
      renew: inQuery('lock-renew', flag, 'Renew its lock; the items are unchanged'),
      release: inQuery('lock-release', flag, 'Release its lock'),
      itsNamespace: inBody('Namespace', jsonName),
      items: inBody('Items', jsonTextMap),
      lock: inBody(
        'Lock',
        jsonObject({
          id: member('ID', jsonText),
          ttl: member('TTL', jsonDurationText),
          delay: member('LockDelay', jsonDurationText),
        }),
      ),
    },
    errors: ['invalid_variable', 'items_missing'],
    answer: writtenVariable,
  }),

  /** Removes a variable. */
  remove: write({
    methods: ['DELETE'],
    path: '/v1/var/{path}',
    access: onVariables,
    summary: 'Removes a variable',
    args: ['path'],
    inputs: { path, cas },
    answer: removedVariable,
  }),
} as const;
