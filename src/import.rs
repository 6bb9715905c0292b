//! The porch: turns bytes of the logs that people have into domain data, and lists what it could not read.
//! It never fails whole, never invents, and knows nothing of the disk's database.
