import { errAsync, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { settled } from '../../../support/settled.js';
import { endVirtualRunners, virtualRunner } from './virtual-runner.js';

endVirtualRunners();

interface Lateness {
  /** The next heartbeat is answered as if the node were not known, and the list of all work that follows comes only when `until` resolves. */
  isDue: boolean;
  readonly until: Promise<void>;
}

function withLateList(link: AgentLink, late: Lateness): AgentLink {
  let isAsked = false;
  return {
    ...link,
    heartbeat: (nodeId, instance) => {
      if (!late.isDue) return link.heartbeat(nodeId, instance);
      late.isDue = false;
      isAsked = true;
      return errAsync({ type: 'node_not_found', nodeId });
    },
    work: (query, signal) => {
      const listed = link.work(query, signal);
      if (!isAsked || query.after > 0) return listed;
      isAsked = false;
      return listed.andThen((list) => ResultAsync.fromSafePromise(late.until).map(() => list));
    },
  };
}

it.each([0, 50])(
  'a list of work from before the end of an allocation does not run it again: keepFinished %d',
  async (keepFinished) => {
    let answer = (): void => undefined;
    const late: Lateness = { isDue: false, until: new Promise((resolve) => (answer = resolve)) };
    const ends: (() => void)[] = [];
    const runner = await virtualRunner({
      wait: () => new Promise<void>((resolve) => ends.push(resolve)),
      ports: (given) => ({ ...given, link: withLateList(given.link, late) }),
      options: { keepFinished },
    });
    const group = groupDocument({}, { Driver: 'function', Config: { function: 'wait' } });
    const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], TaskGroups: [group] };
    (await registerJob(runner.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await runner.until(([first]) => first?.ClientStatus === 'running');
    late.isDue = true;
    for (let passed = 0; late.isDue && passed < 60; passed += 1) await runner.clock.advance(second);
    await settled();
    ends[0]?.();
    await runner.until(([first]) => first?.ClientStatus === 'complete');
    await settled();
    answer();
    await settled();
    await runner.clock.advance(second);
    await settled();
    expect(ends).toHaveLength(1);
  },
);
