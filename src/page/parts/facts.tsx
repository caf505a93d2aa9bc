import type { ComponentChildren } from 'preact';

export function Facts({ facts }: { facts: readonly (readonly [name: ComponentChildren, value: string])[] }) {
  return (
    <dl class="known">
      {facts.map(([name, value]) => (
        <div key={value}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
