import {
  jobBlock,
  multiregionRegionBlock,
  multiregionStrategyBlock,
  parameterizedBlock,
  periodicBlock,
  uiBlock,
  uiLinkBlock,
} from '../document/fields/job-fields.js';
import { nothingFlat } from './diff-fields.js';
import {
  type BlockRule,
  byField,
  byPosition,
  type DiffPart,
  diffObject,
  itemAt,
  type ObjectRule,
  one,
  type Part,
  present,
  sortedObjects,
  strings,
} from './diff-objects.js';
import { scalarsOf } from './flatten.js';
import { affinities, constraints } from './shared-rules.js';

const regionRule: ObjectRule = {
  name: 'Region',
  type: 'fields',
  fields: scalarsOf(multiregionRegionBlock),
  parts: [strings('Datacenters', 'hidden')],
};

const regions = byField('Regions', 'Name', regionRule);
const strategyRule: ObjectRule = { name: 'Strategy', type: 'fields', fields: scalarsOf(multiregionStrategyBlock) };

/** As existing clients expect, an added strategy appears as an edited one that was empty before. */
const strategy: DiffPart = (old, next, detail) =>
  present(
    diffObject(
      strategyRule,
      old === null ? { MaxParallel: 0, OnFailure: '' } : itemAt(old, 'Strategy'),
      itemAt(next, 'Strategy'),
      detail,
    ),
  );

const multiregionRule: ObjectRule = {
  name: 'Multiregion',
  type: 'presence',
  fields: () => nothingFlat,
  parts: [
    {
      of: ['Strategy', 'Regions'],
      diff: (...sides) => sortedObjects([...strategy(...sides), ...regions.diff(...sides)]),
    },
  ],
};

const jobParts: readonly Part[] = [
  strings('Datacenters', 'hidden'),
  constraints,
  affinities,
  one('Periodic', {
    name: 'Periodic',
    type: 'presence',
    fields: scalarsOf(periodicBlock),
    parts: [strings('Specs', 'hidden')],
  }),
  one('ParameterizedJob', {
    name: 'ParameterizedJob',
    type: 'presence',
    fields: scalarsOf(parameterizedBlock),
    parts: [strings('MetaOptional'), strings('MetaRequired')],
  }),
  one('Multiregion', multiregionRule),
  one('UI', {
    name: 'UI',
    type: 'presence',
    fields: scalarsOf(uiBlock),
    parts: [
      byPosition('Links', {
        name: 'Link',
        type: 'presence',
        fields: scalarsOf(uiLinkBlock),
        absent: { Label: '', Url: '' },
      }),
    ],
  }),
];

/** Bookkeeping of the registration. */
const bookkeeping = [
  'ID',
  'Status',
  'StatusDescription',
  'Version',
  'Stable',
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
  'SubmitTime',
];

/** The parts of a job besides its groups, in the order of the diff. */
export const jobRule: BlockRule = {
  fields: scalarsOf(jobBlock, { without: [...bookkeeping, 'NomadTokenID'] }),
  neverContextual: true,
  // The update policy is compared together with the groups.
  ignored: [...bookkeeping, 'Update', 'TaskGroups'],
  filled: ['NomadTokenID'],
  parts: jobParts,
};
