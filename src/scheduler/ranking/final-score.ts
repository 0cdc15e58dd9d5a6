import type { NodeScore } from '../allocation-metric.js';
import type { NodeScores } from './assess-node.js';

/** Scores that apply to one placement only, or to all nodes of one kind; absent ones are undefined. */
export interface ExtraScores {
  /** Sum over the group's spreads; 0 means that they do not apply. */
  readonly spread: number;
  /** An allocation that is being replaced has failed on this node. */
  readonly penalised: boolean;
  readonly preemption?: number | undefined;
}

const penalty = -1;

/** The sum and the number of the scores that apply. */
export function summed(scores: NodeScores): { readonly sum: number; readonly parts: number } {
  let sum = scores.fit;
  let parts = 1;
  for (const score of [scores.devices, scores.antiAffinity, scores.affinity]) {
    if (score === undefined) continue;
    sum += score;
    parts += 1;
  }
  return { sum, parts };
}

/** The mean of the scores that apply. */
export function finalScore(sum: number, parts: number, extra: ExtraScores): number {
  let total = sum;
  let count = parts;
  if (extra.spread !== 0) {
    total += extra.spread;
    count += 1;
  }
  if (extra.penalised) {
    total += penalty;
    count += 1;
  }
  if (extra.preemption !== undefined) {
    total += extra.preemption;
    count += 1;
  }
  return total / count;
}

/** A node's scores as metrics report them: a rule that does not apply has the score 0 or is omitted. */
export function nodeScore(nodeId: string, scores: NodeScores, extra: ExtraScores): NodeScore {
  const { sum, parts } = summed(scores);
  return {
    NodeID: nodeId,
    Scores: {
      binpack: scores.fit,
      ...(scores.devices === undefined ? {} : { devices: scores.devices }),
      'job-anti-affinity': scores.antiAffinity ?? 0,
      'node-reschedule-penalty': extra.penalised ? penalty : 0,
      'node-affinity': scores.affinity ?? 0,
      ...(extra.spread === 0 ? {} : { 'allocation-spread': extra.spread }),
      ...(extra.preemption === undefined ? {} : { preemption: extra.preemption }),
    },
    NormScore: finalScore(sum, parts, extra),
  };
}
