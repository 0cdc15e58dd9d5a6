import { isRecord } from '../../shared/values.js';
import { fail } from '../evaluation.js';
import type { FilterType } from '../schema.js';
import { failing, ofText, type ValueTest } from './value-test.js';

/** Whether a string, list or map is empty. */
export function emptiness(type: FilterType, where: string): ValueTest {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return ofText(type, where, (value) => value === '');
    case 'list':
    case 'map':
      return (value) => isEmpty(value) ?? true;
    case 'any':
      return (value, evaluation) => isEmpty(value) ?? fail(evaluation, `${where}: it cannot be tested for being empty`);
    case 'boolean':
    case 'integer':
    case 'unsigned':
    case 'float':
    case 'time':
    case 'struct':
      return failing(`${where}: a value of type ${type.kind} cannot be tested for being empty`);
  }
}

/** Whether a nullable value is nil. */
export function nilness(type: FilterType, where: string): ValueTest {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'bytes':
      return isNil;
    case 'time':
    case 'struct':
      return type.nullable ? isNil : () => false;
    case 'any':
      return (value, evaluation) =>
        isNil(value) || (typeof value !== 'object' && fail(evaluation, `${where}: a plain value is never nil`));
    case 'text':
    case 'boolean':
    case 'integer':
    case 'unsigned':
    case 'float':
      return (value, evaluation) =>
        (type.nullable && isNil(value)) || fail(evaluation, `${where}: a value of type ${type.kind} is never nil`);
  }
}

function isNil(value: unknown): boolean {
  return value === null || value === undefined;
}

/** Undefined for anything but strings, lists and maps. */
function isEmpty(value: unknown): boolean | undefined {
  if (typeof value === 'string') return value === '';
  if (Array.isArray(value)) return value.length === 0;
  if (!isRecord(value)) return undefined;
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}
