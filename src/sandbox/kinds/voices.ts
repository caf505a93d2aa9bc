interface Voice {
  readonly id: string;
  readonly gender: 'male' | 'female' | 'neutral';
  readonly accent: string;
  readonly description: string;
}

function voice(id: string, gender: Voice['gender'], accent: string, description: string): Voice {
  return { id, gender, accent, description };
}

/** The 20 documented voices of the service. Only their descriptions are invented. */
export const voices: readonly Voice[] = [
  voice('Aria', 'female', 'american', 'Warm and clear, for narration'),
  voice('Roger', 'male', 'american', 'Firm and confident, for announcements'),
  voice('Sarah', 'female', 'american', 'Soft and friendly, for guides'),
  voice('Laura', 'female', 'american', 'Bright and quick, for social media'),
  voice('Charlie', 'male', 'australian', 'Easy-going, for conversation'),
  voice('George', 'male', 'british', 'Calm and deep, for documentaries'),
  voice('Callum', 'male', 'american', 'Rough and intense, for characters'),
  voice('River', 'neutral', 'american', 'Even and relaxed, for explanations'),
  voice('Liam', 'male', 'american', 'Young and lively, for advertising'),
  voice('Charlotte', 'female', 'swedish', 'Cool and elegant, for fashion'),
  voice('Alice', 'female', 'british', 'Precise and pleasant, for news'),
  voice('Matilda', 'female', 'american', 'Gentle, for bedtime stories'),
  voice('Will', 'male', 'american', 'Cheerful, for podcasts'),
  voice('Jessica', 'female', 'american', 'Expressive, for dialogue'),
  voice('Eric', 'male', 'american', 'Plain and steady, for instructions'),
  voice('Chris', 'male', 'american', 'Casual, for videos about everyday things'),
  voice('Brian', 'male', 'american', 'Low and resonant, for trailers'),
  voice('Daniel', 'male', 'british', 'Serious, for reports'),
  voice('Lily', 'female', 'british', 'Light and storytelling, for audiobooks'),
  voice('Bill', 'male', 'american', 'Old and trustworthy, for memories'),
];
