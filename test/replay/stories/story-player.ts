import { equalSpec } from '../../../src/jobs/document/equal-spec.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Difference } from '../player.js';
import { compareStep } from './compare.js';
import { countedDecision, countedState } from './counts.js';
import { StoryNames } from './names.js';
import type { Story, StoryStep } from './story.js';
import { toldDecision, toldState } from './told.js';
import { toldDiff } from './told-diff.js';
import { recordedWords } from './words.js';
import { type Decision, World } from './world.js';

/** Plays a story on the scheduler. */
export class StoryPlayer {
  readonly #story: Story;
  readonly #names = new StoryNames();
  readonly #world: World;

  constructor(story: Story) {
    this.#story = story;
    this.#world = new World(story);
  }

  /** The first step that differs from what was recorded. */
  play(): Difference {
    for (const [at, step] of this.#story.steps.entries()) {
      const difference = this.#step(step);
      if (difference !== undefined) return `step ${at + 1} (${step.do}): ${difference}`;
    }
    return undefined;
  }

  /** What the last step came to, in the form in which stories write it. */
  tellLast(): Readonly<Record<string, unknown>> | undefined {
    return this.#story.steps.map((step) => this.#tell(step)).at(-1);
  }

  #step(step: StoryStep): Difference {
    const told = this.#tell(step);
    return told === undefined || step.expect === undefined ? undefined : compareStep(told, step.expect, step);
  }

  #tell(step: StoryStep): Readonly<Record<string, unknown>> | undefined {
    return step.do === 'plan' ? this.#plan(step) : this.#take(step);
  }

  #take(step: Exclude<StoryStep, { do: 'plan' }>): Readonly<Record<string, unknown>> | undefined {
    const evaluation = this.#world.take(this.#withIds(step));
    if (evaluation === undefined) return undefined;
    const decision = this.#world.decide(evaluation);
    this.#name(decision, 'E');
    const counts = this.#story.countsOnly === true;
    const told = (counts ? countedDecision : toldDecision)(decision, this.#world, this.#names);
    this.#world.apply(decision);
    const state = (counts ? countedState : toldState)(this.#world, this.#names, evaluation.JobID);
    return { ...told, after: state };
  }

  #plan(step: Extract<StoryStep, { do: 'plan' }>): Readonly<Record<string, unknown>> {
    const world = this.#world;
    const before = world.jobs.get(step.job.ID);
    world.index += 1;
    const planned = plannedJob(before, world.jobFrom(step.job), world.index);
    const evaluation = { ...world.newEvaluation(planned, 'job-register'), AnnotatePlan: true };
    const decision = world.decide(evaluation, planned);
    this.#name(decision, 'P');
    const told = {
      ...toldDecision(decision, world, this.#names),
      ...toldDiff(before, planned, decision),
    };
    this.#names.forget([
      ...decision.result.allocations.filter(({ ID }) => !decision.before.has(ID)).map(({ ID }) => ID),
      ...decision.result.followUps.map(({ ID }) => ID),
      ...decision.result.deployments.map(({ ID }) => ID).filter((id) => !world.deployments.has(id)),
    ]);
    return told;
  }

  #name({ result }: Decision, prefix: 'E' | 'P'): void {
    this.#names.nameAllocations([...result.allocations].sort((left, right) => (left.ID < right.ID ? -1 : 1)));
    this.#names.nameEvaluations(result.followUps, prefix, recordedWords);
    const { deployment } = result.decided;
    if (deployment !== undefined) this.#names.nameDeployment(deployment, prefix === 'P' ? 'DP' : undefined);
  }

  /** The step with identifiers in place of the story's names. */
  #withIds<S extends Exclude<StoryStep, { do: 'plan' }>>(step: S): S {
    const id = (name: string): string => this.#names.idOf(name);
    if (step.do === 'report') return { ...step, ...(step.allocs === undefined ? {} : { allocs: step.allocs.map(id) }) };
    if (step.do === 'transition') return { ...step, allocs: step.allocs.map(id) };
    if (step.do === 'deployment') return { ...step, deployment: id(step.deployment) };
    if (step.do === 'evaluate' && 'eval' in step) return { ...step, eval: id(step.eval) };
    return step;
  }
}

/** The next version of the job; the one that there is when nothing of it differs. */
function plannedJob(before: Job | undefined, job: Job, index: number): Job {
  if (before !== undefined && equalSpec(before, job)) return before;
  return {
    ...job,
    Version: before === undefined ? 0 : before.Version + 1,
    CreateIndex: before?.CreateIndex ?? index,
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}
