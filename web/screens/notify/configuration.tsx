import { useState } from 'preact/hooks';
import { box } from '../../app/engine.js';
import { useRead, useRefresh } from '../../app/read.js';
import { Link } from '../../app/router.js';
import { Time } from '../../app/time.js';
import { Id, Text } from '../../parts/text.js';
import { View } from '../../parts/view.js';
import { durationText } from '../../rules/durations.js';
import { kindNames } from '../../rules/notification-words.js';
import { ConfigurationActions, type Outcome, OutcomePanel, ResponseFacts, TestForm } from './actions.js';
import { Triggers } from './configurations.js';
import { DeliveryList } from './deliveries.js';
import { ConfigurationForm } from './form.js';
import { type Configuration, Health, type Room, RoomScreen, roomAddress } from './room.js';

interface ConfigurationScreenProps {
  readonly room: Room;
  readonly id: string;
  readonly isEditing: boolean;
}

/** One configuration; waits for changes. */
export function useConfiguration(id: string) {
  return useRead(`configuration:${id}`, { waits: true, read: (how) => box.notifications.show(id, how) });
}

export function ConfigurationScreen({ room, id, isEditing }: ConfigurationScreenProps) {
  const configuration = useConfiguration(id);
  const [outcome, show] = useState<Outcome | undefined>(undefined);
  const known = configuration.state.value.value;
  useRefresh(configuration, known !== undefined && (known.health.paused || known.health.breaker !== 'closed'));
  const name = known?.name ?? id;
  return (
    <RoomScreen
      room={room}
      title={isEditing ? `Edit ${name}` : name}
      beside={
        known !== undefined &&
        !isEditing && (
          <>
            <Health of={known} />
            <span class="room" />
            <ConfigurationActions room={room} configuration={known} refresh={configuration.refresh} show={show} />
          </>
        )
      }
    >
      <View
        reading={configuration}
        what="the configuration"
        needs="admin or portal on the workspace"
        gone={<Link to={roomAddress(room)}>The configurations of the workspace</Link>}
      >
        {(value) =>
          value.workspaceId !== room.workspace ? (
            <div class="state">
              <p>This workspace has no such configuration.</p>
            </div>
          ) : isEditing ? (
            <ConfigurationForm room={room} configuration={value} />
          ) : (
            <>
              <OutcomePanel outcome={outcome} />
              <Facts configuration={value} />
              <TestForm room={room} configuration={value} show={show} />
              <h2>Deliveries</h2>
              <DeliveryList room={room} configuration={value} />
            </>
          )
        }
      </View>
    </RoomScreen>
  );
}

function Facts({ configuration }: { readonly configuration: Configuration }) {
  const { id, kind, url, users, response, delivery, createdAt, updatedAt } = configuration;
  return (
    <div class="panel columns">
      <dl class="facts">
        <dt>Kind</dt>
        <dd>{kindNames[kind]}</dd>
        <dt>Sends to</dt>
        <dd>
          <Text
            of={
              kind === 'email'
                ? users.join(', ') || 'no recipients'
                : (url ?? 'unreadable: the key that encrypted it is missing')
            }
          />
        </dd>
        <dt>Triggers</dt>
        <dd>
          <Triggers of={configuration} />
        </dd>
        {delivery?.filter != null && (
          <>
            <dt>Filter</dt>
            <dd>
              <code>
                <Text of={delivery.filter} />
              </code>
            </dd>
          </>
        )}
        <dt>ID</dt>
        <dd>
          <Id of={id} what="the configuration's ID" />
        </dd>
      </dl>
      <dl class="facts">
        <dt>Verified</dt>
        <dd>
          {response === null ? (
            <span class="secondary">{kind === 'email' ? 'by a test mail only' : 'never'}</span>
          ) : (
            <>
              {response.successful ? 'accepted' : 'refused'} <Time at={response.sentAt} />
              <ResponseFacts response={response} />
            </>
          )}
        </dd>
        {delivery !== null && <OptionFacts delivery={delivery} />}
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Time at={updatedAt} />
        </dd>
      </dl>
    </div>
  );
}

function OptionFacts({ delivery }: { readonly delivery: NonNullable<Configuration['delivery']> }) {
  const { rate, timeout, concurrency, headerNames, authentication, clientCertificate } = delivery;
  const facts: readonly (readonly [string, string])[] = [
    ...(rate === null ? [] : [['Rate', rate === 0 ? 'unlimited' : `${rate} a second`] as const]),
    ...(timeout === null ? [] : [['Timeout', durationText(timeout)] as const]),
    ...(concurrency === null ? [] : [['At a time', String(concurrency)] as const]),
    ...(headerNames.length === 0 ? [] : [['Extra headers', headerNames.join(', ')] as const]),
    ...(authentication === null ? [] : [['Authentication', authentication] as const]),
    ...(clientCertificate ? [['Client certificate', 'set'] as const] : []),
  ];
  return (
    <>
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>
            <Text of={value} />
          </dd>
        </>
      ))}
    </>
  );
}
