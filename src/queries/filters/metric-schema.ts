import { float, integer, listOf, mapOf, struct, text } from '../../filter/schema.js';

/** Why nodes were chosen or rejected. */
export const metricSchema = struct({
  NodesEvaluated: integer,
  NodesFiltered: integer,
  NodesInPool: integer,
  NodePool: text,
  NodesAvailable: mapOf(integer),
  ClassFiltered: mapOf(integer),
  ConstraintFiltered: mapOf(integer),
  NodesExhausted: integer,
  ClassExhausted: mapOf(integer),
  DimensionExhausted: mapOf(integer),
  QuotaExhausted: listOf(text),
  ResourcesExhausted: mapOf(struct({ CPU: integer, MemoryMB: integer, MemoryMaxMB: integer, DiskMB: integer })),
  Scores: mapOf(float),
  ScoreMetaData: listOf(struct({ NodeID: text, Scores: mapOf(float), NormScore: float })),
  AllocationTime: integer,
  CoalescedFailures: integer,
});
