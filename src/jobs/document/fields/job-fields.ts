import { jobTypes } from '../job.js';
import {
  block,
  bytes,
  flag,
  flagOrNull,
  inputOnly,
  integer,
  integerOrNull,
  integerOrNullOf,
  many,
  neverNull,
  one,
  oneAlways,
  oneOf,
  oneOfOrNull,
  reset,
  storedAs,
  stringMap,
  strings,
  text,
  textOrNull,
  uint64,
} from './field-table.js';
import { affinityBlock, constraintBlock, spreadBlock } from './placement-fields.js';
import { migrateBlock, rescheduleBlock, updateBlock } from './policy-fields.js';
import { taskGroupBlock } from './task-group-fields.js';

export const multiregionStrategyBlock = block('MultiregionStrategy', {
  MaxParallel: integerOrNull,
  OnFailure: textOrNull,
});

export const multiregionRegionBlock = block('MultiregionRegion', {
  Name: text,
  Count: integerOrNull,
  Datacenters: strings,
  NodePool: text,
  Meta: stringMap,
});

export const multiregionBlock = block('Multiregion', {
  Strategy: oneAlways(multiregionStrategyBlock),
  Regions: neverNull(many(multiregionRegionBlock)),
});

export const periodicBlock = block('PeriodicConfig', {
  Enabled: flagOrNull,
  Spec: textOrNull,
  Specs: neverNull(strings),
  SpecType: textOrNull,
  ProhibitOverlap: flagOrNull,
  TimeZone: textOrNull,
});

export const parameterizedBlock = block('ParameterizedJobConfig', {
  Payload: oneOf('optional', 'required', 'forbidden'),
  MetaRequired: strings,
  MetaOptional: strings,
});

export const uiLinkBlock = block('JobUILink', { Label: text, URL: storedAs(text, 'Url') });

export const uiBlock = block('JobUIConfig', { Description: text, Links: many(uiLinkBlock) });

export const versionTagBlock = block('JobVersionTag', { Name: text, Description: text, TaggedTime: integer });

export const jobBlock = block('Job', {
  Stop: flagOrNull,
  Region: textOrNull,
  Namespace: textOrNull,
  ID: textOrNull,
  ParentID: reset(textOrNull),
  Name: textOrNull,
  Type: oneOfOrNull(...jobTypes),
  Priority: integerOrNull,
  AllAtOnce: flagOrNull,
  Datacenters: neverNull(strings),
  NodePool: textOrNull,
  Constraints: many(constraintBlock),
  Affinities: many(affinityBlock),
  Spreads: many(spreadBlock),
  TaskGroups: neverNull(many(taskGroupBlock)),
  Update: oneAlways(updateBlock),
  Multiregion: one(multiregionBlock),
  Periodic: one(periodicBlock),
  ParameterizedJob: one(parameterizedBlock),
  Reschedule: inputOnly(one(rescheduleBlock)),
  Migrate: inputOnly(one(migrateBlock)),
  Dispatched: reset(flag),
  DispatchIdempotencyToken: reset(textOrNull),
  Payload: bytes,
  Meta: stringMap,
  ConsulNamespace: reset(textOrNull),
  VaultNamespace: textOrNull,
  NomadTokenID: reset(textOrNull),
  Status: reset(textOrNull),
  StatusDescription: reset(textOrNull),
  Stable: reset(flagOrNull),
  Version: integerOrNullOf(uint64),
  SubmitTime: reset(integerOrNull),
  CreateIndex: reset(integerOrNullOf(uint64)),
  ModifyIndex: reset(integerOrNullOf(uint64)),
  JobModifyIndex: reset(integerOrNullOf(uint64)),
  UI: one(uiBlock),
  VersionTag: one(versionTagBlock),
});
