/**
 * The words that users put into the description of a game account: plain English nouns of nature, food, home and tools,
 * so that the filter of a platform for children takes offence at none of them, nor at two in a row. There are no names,
 * numbers, homophones, people, bodies, weapons or religions among them.
 */
const words = `
acorn anchor apricot armchair artichoke asparagus avocado bagel balcony banjo barn barrel basin basket bathtub
bedspread beehive bench blanket blueberry bookcase bookshelf bouquet breadcrumb breakfast bridge broccoli broom
bucket buckle bulldozer bungalow cabbage cabin cabinet cactus candle canoe canyon cardboard cardigan carpet
cartwheel cauliflower ceiling celery chalkboard chandelier chimney chocolate cinnamon clarinet cloud coaster cotton
courtyard cradle cranberry crayon cricket crocus croissant cupboard curtain cushion dandelion desk diamond diary
dishcloth dolphin donkey doorbell doorway dragonfly drawbridge drizzle drum dumpling dustpan eagle easel eclipse
elephant elevator elm emerald engine eraser falcon farmhouse feather fence ferry firefly fireplace flamingo flannel
flashlight flute footbridge footpath forest fork fountain frog galaxy garage garden garlic gazebo giraffe glacier
glove goblet goldfish granite gravel greenhouse hallway hammock hamster handbag handkerchief harbor harmonica
harvest haystack headlight hedgehog helicopter herring hillside iceberg icicle island jacket jellyfish jigsaw
journal jungle kangaroo kayak kettle keyboard koala ladder ladle ladybug lagoon lampshade lantern laundry lavender
leaf lemon lemonade leopard lettuce library lighthouse lilac limestone lizard lobster luggage magnet mailbox
mandolin mango marble marmalade marshmallow mattress meadow mirror moonlight mosaic mountain muffin mushroom napkin
necklace nectarine nest notebook oatmeal ocean omelet onion orange orchard orchid ostrich owl oyster paddle
paintbrush pancake panda papaya paper parachute parrot parsley pasture pebble pelican pencil penguin pepper piano
pillow pineapple pinecone pizza planet plateau platter playground pocket pond popcorn porcupine porridge postcard
potato prairie pretzel puddle pumpkin puppet puzzle pyramid quilt radish railway rainbow raincoat raspberry reindeer
river rocket rooftop rowboat ruler saddle sailboat salad salmon sandal sandbox sandwich saucepan saxophone scarf
schoolyard scooter seagull seesaw shelf shovel shrub sidewalk skateboard sketchbook skylight slipper snowman sparrow
spinach sponge spoon squirrel staircase stapler starfish stove strawberry suitcase sunflower sunrise sunset sweater
sycamore tambourine tangerine teacup teapot terrace thimble thunder ticket toaster tomato toolbox toothbrush topaz
tractor treehouse triangle trombone trumpet tulip tunnel turnip turtle valley vanilla vase velvet veranda village
vineyard violin volcano waffle wagon wallpaper walrus wardrobe weather wheelbarrow whistle windmill window
windowsill workbench yogurt zeppelin
`;

/** Every word once, in alphabetical order. */
export const wordList: ReadonlyArray<string> = words.trim().split(/\s+/);
