import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { Background } from '../../../../adapters/runner/background.js';
import { TaskTemplates } from '../../../../adapters/runner/templates/task-templates.js';
import type { TaskTemplate } from '../../../../src/jobs/document/task-parts.js';
import type { AgentLink, AgentLinkError } from '../../../../src/ports/agent-link.js';

const failed: AgentLinkError = { type: 'link_failed', message: 'the call was ended by its signal' };

/** Answers the first question, and fails the next one when it is broken off, as a connection does. */
function answersOnce(): AgentLink['variables'] {
  let isFirst = true;
  return (_query, signal) => {
    if (isFirst) {
      isFirst = false;
      return okAsync({ version: '1', items: [{ a: 'one' }], lists: [] });
    }
    if (signal.aborted) return errAsync(failed);
    return new ResultAsync(
      new Promise((resolve) => signal.addEventListener('abort', () => void errAsync(failed).then(resolve))),
    );
  };
}

it('says nothing of the server when a task ends whose variables were waited for', async () => {
  const clock = manualClock();
  const ids = randomIds();
  const nothing = (): void => undefined;
  const background = new Background({ debug: nothing, info: nothing, warn: nothing, error: nothing });
  const said: string[] = [];
  const templates = new TaskTemplates(
    {
      nodeId: 'node',
      allocationId: 'allocation',
      task: 'main',
      templates: [
        {
          EmbeddedTmpl: 'A={{ with nomadVar "x" }}{{ .a }}{{ end }}',
          SourcePath: '',
          DestPath: 'local/env',
          Envvars: true,
          LeftDelim: '{{',
          RightDelim: '}}',
          ChangeMode: 'noop',
        } as TaskTemplate,
      ],
      paths: null,
      inputs: { env: {}, meta: {} },
      fill: (text) => text,
      rendersAgain: false,
    },
    { link: { variables: answersOnce() }, clock, ids, background },
    {
      tell: (message) => void said.push(message),
      restart: () => undefined,
      signal: () => undefined,
      run: () => Promise.resolve(true),
    },
  );
  await templates.prepare(new AbortController().signal);
  expect(templates.environment).toEqual({ A: 'one' });
  templates.watch();
  await new Promise((resolve) => setImmediate(resolve));
  templates.end();
  await background.settled();
  expect(said).toEqual([]);
});
