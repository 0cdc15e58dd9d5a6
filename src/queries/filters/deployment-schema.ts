import { flag, integer, listOf, mapOf, nullable, struct, text, time, unsigned } from '../../filter/schema.js';

const groupState = struct({
  AutoRevert: flag,
  AutoPromote: flag,
  ProgressDeadline: integer,
  RequireProgressBy: time,
  Promoted: flag,
  PlacedCanaries: listOf(text),
  DesiredCanaries: integer,
  DesiredTotal: integer,
  PlacedAllocs: integer,
  HealthyAllocs: integer,
  UnhealthyAllocs: integer,
});

export const deploymentSchema = struct({
  ID: text,
  Namespace: text,
  JobID: text,
  JobVersion: unsigned,
  JobModifyIndex: unsigned,
  JobSpecModifyIndex: unsigned,
  JobCreateIndex: unsigned,
  IsMultiregion: flag,
  TaskGroups: mapOf(nullable(groupState)),
  Status: text,
  StatusDescription: text,
  EvalPriority: integer,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
  CreateTime: integer,
  ModifyTime: integer,
});
