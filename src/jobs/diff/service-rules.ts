import { equalValues } from '../document/document-values.js';
import { serviceBlock, serviceCheckBlock } from '../document/fields/service-fields.js';
import { connectRule } from './connect-rules.js';
import type { Flat } from './diff-fields.js';
import { diffFields, objectDiff } from './diff-fields.js';
import {
  byField,
  diffObject,
  itemAt,
  listAt,
  type ObjectRule,
  one,
  part,
  present,
  sortedObjects,
  strings,
} from './diff-objects.js';
import { flattenFreeForm, type Item, scalarsOf } from './flatten.js';
import { checkRestartRule, identityRule, matchServices } from './shared-rules.js';

/** The lists of a header map as `Accept[0]`. */
const header = part('Header', (old, next, { contextual }) => {
  const before = itemAt(old, 'Header');
  const after = itemAt(next, 'Header');
  if (equalValues(before, after)) return [];
  const flatBefore = flattenFreeForm(before);
  const flatAfter = flattenFreeForm(after);
  const Type = flatBefore.size === 0 ? 'Added' : flatAfter.size === 0 ? 'Deleted' : 'Edited';
  return [objectDiff(Type, 'Header', diffFields(flatBefore, flatAfter, contextual))];
});

const checkRule: ObjectRule = {
  name: 'Check',
  type: 'presence',
  fields: scalarsOf(serviceCheckBlock),
  parts: [header, one('CheckRestart', checkRestartRule)],
};

/** A weight of 0 counts as unset. */
function weightsOf(weights: Item): Flat {
  const flat = new Map<string, string>();
  for (const name of ['Passing', 'Warning']) {
    const weight = weights[name] as number;
    if (weight > 0) flat.set(name, String(weight));
  }
  return flat;
}

const serviceRule: ObjectRule = {
  name: 'Service',
  type: 'presence',
  fields: scalarsOf(serviceBlock),
  parts: [
    strings('CanaryTags'),
    strings('Tags'),
    byField('Checks', 'Name', checkRule),
    one('Connect', connectRule),
    one('Identity', identityRule),
    one('Weights', { name: 'Weights', type: 'presence', fields: weightsOf }),
  ],
};

/** If each side has one service, they are the same one; several are matched by name, port and position. */
export const services = part('Services', (old, next, detail) => {
  const before = listAt(old, 'Services');
  const after = listAt(next, 'Services');
  if (equalValues(before, after)) return [];
  const pairs = matchServices(before, after);
  return sortedObjects(pairs.flatMap(([left, right]) => present(diffObject(serviceRule, left, right, detail))));
});
